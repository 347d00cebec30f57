// Stand-ins for the two base images of the Dockerfile, made of this machine's Node and npm, to build and check the
// Dockerfile where no registry can be reached. They serve no other purpose and must not be run.
import { execFileSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { folderFiles, programFiles, SHELL_LINK, shellPrograms } from "./host-programs.ts";
import { localSettings, type Workbench } from "./image-plan.ts";
import { NODE_PATH, nodeLayers, textFile } from "./node-base.ts";
import type { ImageParts, Layer } from "./oci.ts";
import { sharedLibrariesOf } from "./shared-libraries.ts";
import type { TarEntry } from "./tar.ts";

const NPM_FOLDER = "usr/local/lib/node_modules/npm";

/** Node 24 and nothing else, where the distroless images have it. */
export function composeRuntimeBase({ node, nodeVersion, architecture }: Workbench): ImageParts {
  const libraries = sharedLibrariesOf(node);
  return {
    layers: nodeLayers({ node, nodeVersion, libraries, path: "nodejs/bin/node" }),
    settings: localSettings(
      { architecture, user: "65532:65532", environment: ["PATH=/usr/bin"], entrypoint: ["/nodejs/bin/node"] },
      "base to run on (stand-in)",
    ),
  };
}

/** Node 24, npm, and the shell that npm runs install scripts with. */
export function composeBuildBase({ node, nodeVersion, architecture }: Workbench): ImageParts {
  const below = nodeLayers({ node, nodeVersion, libraries: sharedLibrariesOf(node) });
  const present = below.flatMap(({ entries }) => entries);
  const tools: Layer = {
    comment: "shell and npm",
    entries: [
      ...programFiles(shellPrograms(["env"]), present),
      SHELL_LINK,
      { type: "link", path: "usr/bin/env", target: "../../bin/env" },
      ...npmFiles(),
      { type: "folder", path: "root", mode: 0o700 },
      textFile("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n"),
    ],
  };
  return {
    layers: [...below, tools],
    settings: localSettings(
      {
        architecture,
        user: "0:0",
        environment: ["PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/root"],
        entrypoint: [`/${NODE_PATH}`],
      },
      "base to build on (stand-in)",
    ),
  };
}

function npmFiles(): readonly TarEntry[] {
  const program = realpathSync(execFileSync("sh", ["-c", "command -v npm"], { encoding: "utf8" }).trim());
  const folder = join(dirname(program), "..");
  return [
    ...folderFiles(folder, NPM_FOLDER, () => true),
    { type: "link", path: "usr/local/bin/npm", target: `/${NPM_FOLDER}/bin/npm-cli.js` },
  ];
}
