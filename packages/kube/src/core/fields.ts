// Reads fields of parsed YAML or JSON, naming the file and the field when one is not what it must be.
// Knows no format in particular; unknown fields are the caller's to ignore.
import { KubeConfigError } from "./errors.ts";

/** A JSON object whose fields are not known yet. */
export type Fields = Readonly<Record<string, unknown>>;

/** Whether a value is an object with fields: not null, not an array. */
export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Text, with absent, empty and anything else being the same. */
export function textOf(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** One mapping of a document, with its place for messages. */
export class FieldReader {
  readonly #fields: Fields;
  /** `FILE: users[0].user`; ends in a blank at the root of the document. */
  readonly place: string;

  constructor(value: unknown, place: string) {
    if (value !== undefined && value !== null && !isFields(value))
      throw new KubeConfigError(`${place.trimEnd()} must be a mapping, not ${show(value)}`);
    this.#fields = value ?? {};
    this.place = place;
  }

  has(name: string): boolean {
    const value = this.#fields[name];
    return value !== undefined && value !== null && value !== "";
  }

  raw(name: string): unknown {
    return this.#fields[name];
  }

  /** Text, with absent and empty being the same. */
  text(name: string): string | undefined {
    if (!this.has(name)) return undefined;
    const value = this.#fields[name];
    if (typeof value !== "string") throw this.#wrong(name, "text", value);
    return value;
  }

  flag(name: string): boolean {
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

  texts(name: string): string[] {
    return this.#list(name).map((entry, index) => {
      if (typeof entry !== "string") throw this.#wrong(`${name}[${index}]`, "text", entry);
      return entry;
    });
  }

  names(): string[] {
    return Object.keys(this.#fields);
  }

  #at(name: string): string {
    return this.place.endsWith(" ") ? `${this.place}${name}` : `${this.place}.${name}`;
  }

  #list(name: string): readonly unknown[] {
    const value = this.#fields[name];
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) throw this.#wrong(name, "a list", value);
    return value;
  }

  #wrong(name: string, want: string, value: unknown): KubeConfigError {
    return new KubeConfigError(`${this.#at(name)} must be ${want}, not ${show(value)}`);
  }
}

/** A value short enough for a message. Only scalars are shown: whole subtrees may hold secrets. */
function show(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (isFields(value)) return "a mapping";
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
