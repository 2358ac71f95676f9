import { Component } from 'react';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { ErrorNotice } from '../shared/error-notice';

interface Props {
  /** Another place is another try. */
  place: string;
  children: ReactNode;
}

class Boundary extends Component<Props, { error: unknown; place: string }> {
  override state: { error: unknown; place: string } = { error: null, place: this.props.place };

  static getDerivedStateFromError = (error: unknown) => ({ error });

  static getDerivedStateFromProps = ({ place }: Props, state: { place: string }) =>
    place === state.place ? null : { error: null, place };

  override render(): ReactNode {
    const { error } = this.state;
    // A page's script that does not load any more: a newer release is there.
    if (error !== null) return <ErrorNotice error={error} retry={() => window.location.reload()} />;
    return this.props.children;
  }
}

/** A page that breaks leaves the navigation standing. */
export function PageBoundary({ children }: { children: ReactNode }) {
  const [location] = useLocation();
  return <Boundary place={location}>{children}</Boundary>;
}
