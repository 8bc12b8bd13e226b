/** What one check found. `warn`: works, and somebody should look. */
export interface Finding {
  check: string;
  status: 'ok' | 'warn' | 'fail';
  detail: string;
}

export const ok = (check: string, detail: string): Finding => ({ check, status: 'ok', detail });
export const warn = (check: string, detail: string): Finding => ({ check, status: 'warn', detail });
export const fail = (check: string, detail: string): Finding => ({ check, status: 'fail', detail });

/** Runs a check; what it throws is its finding. */
export async function guarded(check: string, work: () => Promise<Finding>): Promise<Finding> {
  try {
    return await work();
  } catch (error) {
    return fail(check, error instanceof Error && error.message !== '' ? error.message : String(error));
  }
}
