import { useCallback, useEffect, useRef } from 'react';
import { useLocation } from 'wouter';

type Navigate = ReturnType<typeof useLocation>[1];

/** As `navigate`, for what follows an answer: who has left the page meanwhile is not led away from another one. */
export function useGo(): Navigate {
  const [, navigate] = useLocation();
  const isHere = useRef(true);
  useEffect(() => {
    isHere.current = true;
    return () => {
      isHere.current = false;
    };
  }, []);
  return useCallback<Navigate>(
    (to, options) => {
      if (isHere.current) navigate(to, options);
    },
    [navigate],
  );
}
