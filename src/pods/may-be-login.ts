// Whether a pod's trouble can come from a database that rejects its password: its container runs, or ran and exited by itself. One whose image
// cannot be pulled, or that needs more memory, never got as far as to log in. Pure.

export function mayBeLogin(cause: string): boolean {
  return /^container \S+ (?:runs, but its \S+ probe fails|crashes |is killed again and again )/.test(cause);
}
