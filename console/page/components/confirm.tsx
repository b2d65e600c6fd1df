import { Button, Group, Modal, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';

export interface Question {
  readonly title: string;
  readonly text: ReactNode;
  /** The text of the button that confirms. */
  readonly confirm: string;
  readonly onConfirm: () => void;
  readonly isDangerous?: boolean;
}

/** Asks before something that cannot be undone. */
export function useConfirm(): { readonly ask: (question: Question) => void; dialog: ReactNode } {
  const [question, ask] = useState<Question>();
  const close = () => ask(undefined);
  const dialog = (
    <Modal
      opened={question !== undefined}
      onClose={close}
      title={question?.title}
      withCloseButton={false}
    >
      <Text>{question?.text}</Text>
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={close} data-autofocus>
          Cancel
        </Button>
        <Button
          color={question?.isDangerous ? 'red.9' : undefined}
          onClick={() => {
            close();
            question?.onConfirm();
          }}
        >
          {question?.confirm}
        </Button>
      </Group>
    </Modal>
  );
  return { ask, dialog };
}
