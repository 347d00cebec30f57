// References to Secrets in the namespace of the object. Admission, not the schema, rejects empty names: an empty name
// is the stored form of an unset reference.
import { boolean, object, required, string } from "./builders.ts";

/** A reference by name. */
export const localRef = (description: string) =>
  object({ name: string({ description: "Name of the Secret.", default: "" }) }, { description, atomic: true });

/** A reference to one key of a Secret. */
export const secretKeyRef = (description: string) =>
  object(
    {
      name: string({ description: "Name of the Secret.", default: "" }),
      key: required(string({ description: "Key inside the Secret." })),
      optional: boolean({ description: "Whether the Secret or its key may be missing." }),
    },
    { description, atomic: true },
  );
