import { Component, type ReactNode } from 'react';
import { Problem } from './problem.tsx';

interface Props {
  readonly children: ReactNode;
}

/** Shows a fault of the page in place of the view that it stopped: the menu stays. Another view starts afresh. */
export class Boundary extends Component<Props, { readonly error?: unknown }> {
  override state: { readonly error?: unknown } = {};

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    return error === undefined ? this.props.children : <Problem error={error} />;
  }
}
