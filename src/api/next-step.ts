// The form of a message that ends with a next step: `CAUSE; next: STEP`. The operator writes it where it knows more
// than the reason does. Messages are for people: no code searches for the mark, and messages of other programs must
// not contain it (src/pods/stable-text.ts).

export const MARK = "; next: ";

export const withNextStep = (cause: string, next: string): string => `${cause}${MARK}${next}`;
