// The form of a message that ends with a next step: `CAUSE; next: STEP`. The operator writes it where it knows more
// than the reason tells. Messages are for people: no part of the program looks for the mark, and text of others must
// not contain it (src/pods/stable-text.ts).

export const MARK = "; next: ";

export const withNextStep = (cause: string, next: string): string => `${cause}${MARK}${next}`;
