// Image references, parsed as Docker and the API server do (a registry port is not a tag), and the pull policy that
// follows from one. Fetches nothing.

export interface ImageReference {
  /** Registry and repository as written, without tag and digest. */
  readonly name: string;
  readonly tag?: string;
  /** `sha256:…` */
  readonly digest?: string;
}

export type PullPolicy = "Always" | "IfNotPresent";

const PATH_PART = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";
const HOST_PART = "(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])";
const HOST = `(?:${HOST_PART}(?:\\.${HOST_PART})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`;
const NAME = `(?:${HOST}/)?${PATH_PART}(?:/${PATH_PART})*`;
const REFERENCE = new RegExp(`^(${NAME})(?::([\\w][\\w.-]{0,127}))?(?:@([A-Za-z0-9_+.-]+:[0-9a-fA-F]{32,}))?$`);

/** The supported digest algorithms, with the length of their value. Digests in capitals are rejected. */
const DIGEST = /^(?:sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128})$/;
const IMAGE_ID = /^[a-f0-9]{64}$/;

const MAX_REPOSITORY_LENGTH = 255;
/** Longer than any legal reference: name, tag and digest with their separators. */
const MAX_LENGTH = 700;

/** The parts of a reference, or undefined when no registry would accept it. */
export function parseImageReference(text: string): ImageReference | undefined {
  if (text.length > MAX_LENGTH || IMAGE_ID.test(text)) return undefined;
  const match = REFERENCE.exec(text);
  const [, name, tag, digest] = match ?? [];
  if (name === undefined) return undefined;
  const repository = repositoryOf(name);
  if (repository.length > MAX_REPOSITORY_LENGTH || repository !== repository.toLowerCase()) return undefined;
  if (digest !== undefined && !DIGEST.test(digest)) return undefined;
  return { name, ...(tag === undefined ? {} : { tag }), ...(digest === undefined ? {} : { digest }) };
}

/** The policy that the API server fills in: always for `latest` and for neither tag nor digest. */
export function defaultPullPolicy(image: string): PullPolicy {
  return effectiveTag(image) === "latest" ? "Always" : "IfNotPresent";
}

/** The policy for engine and metadata images, whose tag `dev` moves as `latest` does. */
export function firstPartyPullPolicy(image: string): PullPolicy {
  return effectiveTag(image) === "dev" ? "Always" : defaultPullPolicy(image);
}

function effectiveTag(image: string): string | undefined {
  const reference = parseImageReference(image);
  if (reference === undefined) return undefined;
  return reference.tag ?? (reference.digest === undefined ? "latest" : undefined);
}

/** The first part is a registry only if it looks like a host; otherwise it belongs to the repository, on Docker Hub. */
function repositoryOf(name: string): string {
  const slash = name.indexOf("/");
  if (slash < 0) return `library/${name}`;
  const first = name.slice(0, slash);
  const isRegistry = /[.:]/.test(first) || first === "localhost" || first !== first.toLowerCase();
  return isRegistry ? name.slice(slash + 1) : name;
}
