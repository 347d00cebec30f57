// Reads fields of parsed YAML or JSON; errors name the file and the field. Knows no particular format; callers ignore
// unknown fields.
import { KubeConfigError } from "./errors.ts";

/** A JSON object whose fields are not known yet. */
export type Fields = Readonly<Record<string, unknown>>;

/** Whether a value is an object with fields: not null, not an array. */
export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The string field; undefined if it is absent, empty or of another type. */
export function stringField(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** One mapping of a document, with its location for messages. */
export class FieldReader {
  readonly #fields: Fields;
  /** `FILE: users[0].user`; ends with a space at the root of the document. */
  readonly location: string;

  constructor(value: unknown, location: string) {
    if (value !== undefined && value !== null && !isFields(value))
      throw wrong(location.trimEnd(), "a mapping", value, location.endsWith(" "));
    this.#fields = value ?? {};
    this.location = location;
  }

  has(name: string): boolean {
    const value = this.#fields[name];
    return value !== undefined && value !== null && value !== "";
  }

  raw(name: string): unknown {
    return this.#fields[name];
  }

  /** The string field; undefined if it is absent or empty. */
  string(name: string): string | undefined {
    if (!this.has(name)) return undefined;
    const value = this.#fields[name];
    if (typeof value !== "string") throw this.#wrong(name, "a string", value);
    return value;
  }

  boolean(name: string): boolean {
    const value = this.#fields[name];
    if (value === undefined || value === null) return false;
    if (typeof value !== "boolean") throw this.#wrong(name, "true or false", value);
    return value;
  }

  child(name: string): FieldReader {
    return new FieldReader(this.#fields[name], this.#at(name));
  }

  /** The entries of a list of mappings. */
  children(name: string): FieldReader[] {
    return this.#list(name).map((entry, index) => new FieldReader(entry, this.#at(`${name}[${index}]`)));
  }

  strings(name: string): string[] {
    return this.#list(name).map((entry, index) => {
      if (typeof entry !== "string") throw this.#wrong(`${name}[${index}]`, "a string", entry);
      return entry;
    });
  }

  names(): string[] {
    return Object.keys(this.#fields);
  }

  #at(name: string): string {
    return this.location.endsWith(" ") ? `${this.location}${name}` : `${this.location}.${name}`;
  }

  #list(name: string): readonly unknown[] {
    const value = this.#fields[name];
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) throw this.#wrong(name, "a list", value);
    return value;
  }

  #wrong(name: string, want: string, value: unknown): KubeConfigError {
    return wrong(this.#at(name), want, value, false);
  }
}

function wrong(location: string, want: string, value: unknown, isUnusable: boolean): KubeConfigError {
  const safeMessage = `${location} must be ${want}`;
  return new KubeConfigError(`${safeMessage}, not ${show(value)}`, { safeMessage, isUnusable });
}

/** A value short enough for a message. Shows only scalars: whole subtrees may contain secrets. */
function show(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (isFields(value)) return "a mapping";
  const shown = JSON.stringify(value) ?? "nothing";
  return shown.length > 40 ? `${shown.slice(0, 40)}…` : shown;
}
