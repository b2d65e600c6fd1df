import { Button, Group, Modal, Text, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';

/** Of buttons: 4.5:1 with its text, and 3:1 on both grounds. */
export const danger = '#d63031';

export interface Question {
  readonly title: string;
  readonly text: ReactNode;
  /** The text of the button that confirms. */
  readonly confirm: string;
  readonly onConfirm: () => void;
  readonly isDangerous?: boolean;
}

const still = { duration: 0 };

/** Asks before something that cannot be undone. */
export function useConfirm(): { readonly ask: (question: Question) => void; dialog: ReactNode } {
  const [question, ask] = useState<Question>();
  const close = () => ask(undefined);
  const dialog = (
    <Modal.Root opened={question !== undefined} onClose={close} centered transitionProps={still}>
      <Modal.Overlay />
      {/* Not Mantine's own title: it is in a header, which would be a second banner of the page. */}
      <Modal.Content aria-label={question?.title}>
        <Modal.Body>
          <Title order={2} size="h4" mb="xs">
            {question?.title}
          </Title>
          <Text>{question?.text}</Text>
          <Group justify="flex-end" mt="md">
            <Button variant="default" onClick={close} data-autofocus>
              Cancel
            </Button>
            <Button
              {...(question?.isDangerous && { color: danger })}
              onClick={() => {
                close();
                question?.onConfirm();
              }}
            >
              {question?.confirm}
            </Button>
          </Group>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
  return { ask, dialog };
}
