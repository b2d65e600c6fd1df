import {
  ActionIcon,
  Alert,
  Anchor,
  Badge,
  Box,
  Button,
  Code,
  CopyButton,
  Flex,
  Group,
  Paper,
  SegmentedControl,
  Skeleton,
  Stack,
  Text,
  type TextProps,
  Title,
} from '@mantine/core';
import { useTimeout } from '@mantine/hooks';
import type { UseQueryResult } from '@tanstack/react-query';
import {
  Component,
  type FormEvent,
  type ReactNode,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { countText } from '../../contract/text/text.ts';
import type { Tone } from '../../contract/wording/delivery-verdict.ts';
import { failureText, isFinal } from './calls.ts';
import { agoText, timeText } from './format.ts';
import { Icon, type IconName } from './icons.tsx';
import { type Question, useSession } from './session.ts';

/** What all views are made of: the view, its cards, texts and dialogs, and what is in place of data. */

/** Properties of a form that the page handles. */
export const submitting =
  (submit: (values: FormData) => void) => (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    submit(new FormData(event.currentTarget));
  };

type Children = { readonly children: ReactNode };

interface ViewProps extends Children {
  readonly title: string;
  /** Whether a link above the title leads to the notifications. */
  readonly isInList?: boolean;
  /** Below the title. */
  readonly meta?: ReactNode;
  readonly actions?: ReactNode;
}

/** Whether a view was shown before: the first one leaves the focus at the start of the document. */
let hasShownView = false;

/** A view: its heading gets the focus when the view is opened, so that a screen reader reads it. */
export function View({ title, isInList, meta, actions, children }: ViewProps) {
  const { projectId, listHref } = useSession();
  const element = useRef<HTMLHeadingElement>(null);
  // Before the person can type or press anything in the view.
  useLayoutEffect(() => {
    if (hasShownView) {
      element.current!.focus({ preventScroll: true });
      window.scrollTo({ top: history.state?.top ?? 0 });
    }
    hasShownView = true;
  }, []);
  useEffect(() => {
    document.title = [title, projectId, 'Carillon console'].join(' · ');
  }, [title, projectId]);
  return (
    <>
      {isInList && (
        <Anchor href={listHref} c="var(--faint)" fz="hint" display="inline-flex" mb={6}>
          <Icon name="left" />
          &nbsp;Notifications
        </Anchor>
      )}
      <Group align="start" gap="sm" mih={36} mb={{ base: 'md', sm: 'xl' }}>
        <Stack gap="xs" pt={4} miw={0} flex={`999 1 ${meta === undefined ? 6 : 16}rem`}>
          <Title order={1} ref={element} tabIndex={-1} style={{ outline: 'none' }}>
            <bdi>{title}</bdi>
          </Title>
          {meta}
        </Stack>
        <Group mih={36}>{actions}</Group>
      </Group>
      {children}
    </>
  );
}

interface CardProps extends Children {
  readonly title: string;
  /** Beside the title. */
  readonly aside?: ReactNode;
  /** Whether the content reaches to the edges. */
  readonly isFlush?: boolean;
}

const padding = { base: 16, sm: 20 };

/** A part of a view, with its heading. */
export function Card({ title, aside, isFlush = false, children }: CardProps) {
  const id = useId();
  return (
    <Paper component="section" aria-labelledby={id} pt={16}>
      <Group justify="space-between" gap="xs" px={padding} pb={isFlush ? { base: 12, sm: 0 } : 0}>
        <Title order={2} id={id}>
          {title}
        </Title>
        {aside}
      </Group>
      {isFlush ? children : <Inside>{children}</Inside>}
    </Paper>
  );
}

/** The content of a card. */
export const Inside = (props: Children) => (
  <Stack gap="sm" px={padding} pt={12} pb={padding} {...props} />
);

/** A small, quiet text. */
export const Hint = (props: TextProps & { children?: ReactNode; id?: string; role?: string }) => (
  <Text fz="hint" c="var(--faint)" {...props} />
);

/** A small round thing: a number, initials, or an icon. */
export const Round = ({ tone, children }: { tone?: Tone; children: ReactNode }) => (
  <Badge component="span" circle color={tone ?? 'neutral'} w={28} h={28} fz="hint" fw={600}>
    {children}
  </Badge>
);

/** An entry of a list: what it is, and what can be done. */
export const Row = ({ children }: Children) => (
  <Group component="li" justify="space-between" gap="0.5rem 0.875rem" py={14} className="row">
    {children}
  </Group>
);

/** A name and its value, in a `dl`. In a `stacked` one, the name is above the value. */
export const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <Flex className="row" wrap="wrap" columnGap="xs" py={10}>
    <Text component="dt" c="dimmed" miw="5.25rem">
      {name}
    </Text>
    <Box component="dd" flex="1 1 8rem" miw={0}>
      {children}
    </Box>
  </Flex>
);

interface DisclosureProps extends Children {
  readonly title: string;
  /** Beside the title: what is inside. */
  readonly hint?: string;
  /** At first. */
  readonly isOpen?: boolean;
}

/** What is not needed every time, behind its name. */
export function Disclosure({ title, hint, isOpen, children }: DisclosureProps) {
  return (
    <details open={isOpen}>
      <Flex component="summary" gap={10} align="center" style={{ cursor: 'pointer' }}>
        <Title order={2}>{title}</Title>
        <Hint flex={1}>{hint}</Hint>
        <Icon name="right" />
      </Flex>
      {children}
    </details>
  );
}

/** Shows a fault of the page in place of the view that it stopped: the menu stays. Another view starts afresh. */
export class Boundary extends Component<Children, { readonly error?: unknown }> {
  override state: { readonly error?: unknown } = {};

  static getDerivedStateFromError = (error: unknown) => ({ error });

  override render(): ReactNode {
    const { error } = this.state;
    return error === undefined ? this.props.children : <Problem error={error} />;
  }
}

/** Says what failed and what to do, in the place of what is missing. Nothing without an error. */
export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { isLocal } = useSession() ?? {};
  if (error === undefined || error === null) return null;
  const { what, advice } = failureText(error, isLocal);
  return (
    <Alert color="bad" title={what}>
      {advice}
      {onRetry && !isFinal(error) && (
        <Button variant="default" display="block" mt="sm" onClick={onRetry}>
          Try again
        </Button>
      )}
    </Alert>
  );
}

type Query = Pick<UseQueryResult, 'error' | 'isPending' | 'refetch'>;

/** In place of data: what failed, or grey shapes of these heights. They wait, so that a quick response does not flash. */
export function Pending({ of, heights }: { of: readonly Query[]; heights: readonly number[] }) {
  const [isLate, setLate] = useState(false);
  useTimeout(() => setLate(true), 300, { autoInvoke: true });
  const isShown = isLate && of.some(({ isPending }) => isPending);
  const failed = of.filter(({ error }) => error);
  if (!isShown && failed.length === 0) return null;
  // One cause stops them all: it is said once.
  return (
    <Stack role={isShown ? 'status' : undefined} aria-label={isShown ? 'Loading' : undefined}>
      <Problem error={failed[0]?.error} onRetry={() => failed.map(({ refetch }) => refetch())} />
      {isShown && heights.map((height) => <Skeleton key={height} height={height} radius="lg" />)}
    </Stack>
  );
}

type NothingProps = { icon: IconName; text: string; children?: ReactNode };

/** In place of a list without entries: what will be here, and the way to it. */
export const Nothing = ({ icon, text, children }: NothingProps) => (
  <Stack align="center" gap="sm" py={40} px="md" c="dimmed" role="status">
    <Icon name={icon} size={24} />
    {text}
    <Group>{children}</Group>
  </Stack>
);

interface CopiedProps {
  readonly text: string;
  /** Such as `the id`. */
  readonly what: string;
  /** Whether it has several lines, which keyboards can scroll. */
  readonly isCode?: boolean;
}

/** A text, and the icon that copies it whole. */
export const Copied = ({ text, what, isCode }: CopiedProps) => (
  <Group gap={4} wrap="nowrap" align={isCode ? 'start' : 'center'} justify="space-between">
    {isCode ? (
      <Code block tabIndex={0} flex={1} miw={0} mah="24rem" style={{ overflowWrap: 'normal' }}>
        {text}
      </Code>
    ) : (
      <Text inherit truncate title={text}>
        {text}
      </Text>
    )}
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <ActionIcon onClick={copy} aria-label={copied ? 'Copied' : `Copy ${what}`}>
          <Icon name={copied ? 'tick' : 'copy'} />
        </ActionIcon>
      )}
    </CopyButton>
  </Group>
);

/** How long ago it was; the exact time on hover. @param at RFC 3339. */
export const Time = ({ at }: { at: string }) => (
  <time dateTime={at} title={timeText(at, 'long')}>
    {agoText(at, Date.now())}
  </time>
);

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly choices: Readonly<Record<Value, string>>;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly fullWidth?: boolean;
}

/** A choice of a few, side by side. */
export function Choice<Value extends string>({
  label,
  choices,
  onChange,
  ...others
}: ChoiceProps<Value>) {
  return (
    <SegmentedControl
      aria-label={label}
      data={Object.entries<string>(choices).map(([value, text]) => ({ value, label: text }))}
      onChange={(one) => onChange(one as Value)}
      withItemsBorders={false}
      style={{ flexWrap: 'wrap' }}
      {...others}
    />
  );
}

interface StepProps extends Children {
  /** From 0. Beyond the last one: at the last one. */
  readonly at: number;
  readonly of: number;
  /** Such as `recipient`. */
  readonly what: string;
  readonly onStep: (at: number) => void;
}

/** Goes through entries: `‹ ada, 2 of 240 ›`. */
export const Step = ({ of, what, onStep, children, ...props }: StepProps) => {
  const at = Math.min(props.at, of - 1);
  const step = (name: string, icon: IconName, to: number) => {
    const isThere = to >= 0 && to < of;
    return (
      <ActionIcon
        aria-label={`${name} ${what}`}
        aria-disabled={!isThere}
        onClick={() => isThere && onStep(to)}
      >
        <Icon name={icon} />
      </ActionIcon>
    );
  };
  return (
    <Group gap={4} wrap="nowrap" justify="center">
      {step('Previous', 'left', at - 1)}
      <Hint role="status">
        {children}, {countText(at + 1)} of {countText(of)}
      </Hint>
      {step('Next', 'right', at + 1)}
    </Group>
  );
};

/** A quiet button that opens a view. */
export const LinkButton = (props: { href: string; children: ReactNode }) => (
  <Button variant="default" component="a" mr="auto" {...props} />
);

/** Milliseconds without a press before a question takes an answer: the press that opened it may be a double one. */
const restMs = 1000;

const foot = { pos: 'sticky', bottom: -20, bg: 'var(--mantine-color-default)' } as const;

/** Asks over the page, in a dialog of the browser's own: it keeps the focus, and gives it back. */
export function Dialog({ question }: { question: Question | undefined }) {
  const { ask } = useSession();
  const element = useRef<HTMLDialogElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [isReady, setReady] = useState(false);
  const rest = useTimeout(() => setReady(true), restMs);
  const asked = useRef(question);
  const restart = () => {
    setReady(false);
    rest.clear();
    rest.start();
  };
  useLayoutEffect(() => {
    const dialog = element.current!;
    asked.current = question;
    setBusy(false);
    if (question === undefined) return dialog.close();
    dialog.showModal();
    dialog.querySelector<HTMLElement>('[data-autofocus]')?.focus();
    restart();
  }, [question]);
  const confirm = async (values: FormData) => {
    if (isBusy) return;
    if (!isReady) return restart();
    setBusy(true);
    const next = await question!.next?.(values);
    // Closed meanwhile, it is not answered.
    if (asked.current !== question || !element.current!.open) return;
    ask(next);
    if (next === undefined) question!.onConfirm(values);
  };
  // The event comes later than the focus goes back: somebody may have asked again by then.
  const closed = () => !element.current!.open && ask(undefined);
  return (
    <dialog ref={element} aria-label={question?.title} onClose={closed}>
      {question && (
        <form onSubmit={submitting(confirm)}>
          <Title order={2} mb="xs">
            {question.title}
          </Title>
          {question.text}
          {/* In sight, also where the question is higher than the window. */}
          <Group justify="flex-end" gap="xs" py={20} mb={-20} {...foot}>
            <Button variant="default" onClick={() => ask(undefined)} data-autofocus>
              Cancel
            </Button>
            <Button
              type="submit"
              loading={isBusy}
              {...(question.isDangerous && { color: 'danger' })}
              {...(!isReady && { 'aria-disabled': true, 'data-disabled': true })}
            >
              {question.confirm}
            </Button>
          </Group>
        </form>
      )}
    </dialog>
  );
}
