// What all images with a Node have below them: the C library, a user, the usual folders, and Node itself. The same layers in every
// image, so that a machine keeps them once.
import { readFileSync } from "node:fs";
import type { Layer } from "./oci.ts";
import type { SharedLibrary } from "./shared-libraries.ts";
import type { FileEntry, TarEntry } from "./tar.ts";

export const NODE_PATH = "usr/bin/node";

export const NODE_ENVIRONMENT = [
  "PATH=/usr/bin",
  "NODE_ENV=production",
  // A small young generation keeps resident memory about 10 MB lower; the heap limit is below the container's memory limit.
  "NODE_OPTIONS=--max-semi-space-size=2 --max-old-space-size-percentage=75",
];

export interface NodeBase {
  readonly node: string;
  readonly nodeVersion: string;
  /** What Node needs. */
  readonly libraries: readonly SharedLibrary[];
  /** Where Node is in the image, when that is not the usual place. */
  readonly path?: string;
}

export function nodeLayers({ node, nodeVersion, libraries, path = NODE_PATH }: NodeBase): readonly Layer[] {
  return [
    {
      comment: "base: C library, user, folders",
      entries: [
        ...libraries.map(libraryFile),
        ...baseFolders(),
        { type: "folder", path: "home/nonroot", mode: 0o700, uid: 65532, gid: 65532 },
        ...userFiles({ name: "nonroot", id: 65532, home: "/home/nonroot" }),
      ],
    },
    {
      comment: `node ${nodeVersion}`,
      entries: [{ type: "file", path, content: readFileSync(node), mode: 0o755 }],
    },
  ];
}

export const libraryFile = ({ path, content }: SharedLibrary): FileEntry => {
  return { type: "file", path: path.slice(1), content, mode: 0o755 };
};

/** Mount points of a container runtime, and space for scratch files. */
export function baseFolders(): readonly TarEntry[] {
  return [
    ...["dev", "proc", "sys"].map((path): TarEntry => ({ type: "folder", path })),
    { type: "folder", path: "tmp", mode: 0o1777 },
  ];
}

/** Programs look up who they are; hosts are looked up in files, then by name servers. */
export function userFiles({ name, id, home }: { name: string; id: number; home: string }): readonly TarEntry[] {
  return [
    textFile("etc/passwd", `root:x:0:0:root:/:/nonexistent\n${name}:x:${id}:${id}:${name}:${home}:/nonexistent\n`),
    textFile("etc/group", `root:x:0:\n${name}:x:${id}:\n`),
    textFile("etc/nsswitch.conf", "hosts: files dns\n"),
  ];
}

export const textFile = (path: string, text: string): FileEntry => ({ type: "file", path, content: Buffer.from(text) });
