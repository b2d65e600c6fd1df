import { useEffect, useState } from 'preact/hooks';
import { type Place, placeOf } from './place.ts';

/** The current place. It changes with the URL's fragment: by links, and by the browser's history. */
export function usePlace(): Place {
  const [fragment, setFragment] = useState(location.hash);
  useEffect(() => {
    const read = () => setFragment(location.hash);
    window.addEventListener('hashchange', read);
    return () => window.removeEventListener('hashchange', read);
  }, []);
  return placeOf(fragment);
}
