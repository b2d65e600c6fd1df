import type { CarillonClient, PushState } from 'carillon';
import { useEffect, useState } from 'react';

/** The state of push in this browser. Undefined until it is known. */
export function usePush(push: CarillonClient): PushState | undefined {
  const [state, setState] = useState<PushState>();
  useEffect(() => {
    push.state().then(setState);
    return push.on('change', setState);
  }, [push]);
  return state;
}
