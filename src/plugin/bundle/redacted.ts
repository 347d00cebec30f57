/** What stands in a bundle where something was taken out. */
export const REDACTED = "REDACTED";
