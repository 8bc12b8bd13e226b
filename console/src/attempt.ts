import { useRef } from 'react';

interface Attempt {
  /** The header of a request with this body: the same key as long as the same body is sent again. */
  headerFor: (body: object) => { 'Idempotency-Key': string };
  /** Herald has answered: what is sent next is sent anew. */
  end: () => void;
}

/** Repeats of a form, by which nothing is sent twice where an answer was lost. */
export function useAttempt(): Attempt {
  const attempt = useRef({ text: '', key: '' });
  return {
    headerFor: (body) => {
      const text = JSON.stringify(body);
      if (attempt.current.text !== text) attempt.current = { text, key: crypto.randomUUID() };
      return { 'Idempotency-Key': attempt.current.key };
    },
    end: () => {
      attempt.current = { text: '', key: '' };
    },
  };
}
