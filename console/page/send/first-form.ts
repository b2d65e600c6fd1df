import type { ConsoleSettings } from '../../settings.ts';
import { emptySendForm, type SendForm } from './send-form.ts';

/** The form before anything is typed. For the local stack it has an example; real subscribers never get one. */
export function firstForm({ local }: ConsoleSettings): SendForm {
  if (!local) return emptySendForm;
  return {
    ...emptySendForm,
    title: 'The bells are ringing',
    body: 'All of them, and all at once.',
    // A click opens, or comes back to, this page.
    url: `${location.origin}/`,
    icon: `${location.origin}/bell.svg`,
  };
}
