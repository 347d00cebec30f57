// The image of the stand-in engine, with what the operator's pods expect of the real one: bash, /opt/firebolt/firebolt, and two
// folders that are its to write.
import { ENGINE_CONTRACT } from "../../src/api/engine-contract.ts";
import { bundleProgram } from "./bundle.ts";
import { programFiles, SHELL_LINK, shellPrograms } from "./host-programs.ts";
import { type ImagePlan, localSettings, type Workbench } from "./image-plan.ts";
import { NODE_ENVIRONMENT, NODE_PATH, nodeLayers, userFiles } from "./node-base.ts";
import { sharedLibrariesOf } from "./shared-libraries.ts";
import type { TarEntry } from "./tar.ts";

const { user: USER, mounts, program: PROGRAM } = ENGINE_CONTRACT;
const VERSION = "stand-in";

/** Layers name files without the leading slash. */
const inImage = (path: string): string => path.slice(1);

export async function planEngineImage(bench: Workbench): Promise<ImagePlan> {
  const { root, node, nodeVersion, architecture } = bench;
  const program = await bundleProgram({
    root,
    entry: "dev/stand-ins/engine/main.ts",
    interpreter: `/${NODE_PATH}`,
    target: "node24",
  });
  const shell = shellPrograms(["cat"]);
  const writable = [mounts.data, mounts.runtime].map(inImage).map((path): TarEntry => {
    // Of group 0, for platforms that choose the user.
    return { type: "folder", path, mode: 0o2770, uid: USER, gid: 0 };
  });
  return {
    version: VERSION,
    machineFiles: [node, ...shell.map(({ from }) => from)],
    contents: [program],
    compose() {
      const below = nodeLayers({ node, nodeVersion, libraries: sharedLibrariesOf(node) });
      const present = below.flatMap(({ entries }) => entries);
      return {
        layers: [
          ...below,
          { comment: "shell", entries: [...programFiles(shell, present), SHELL_LINK] },
          {
            comment: "stand-in engine",
            entries: [
              { type: "file", path: inImage(PROGRAM), content: program, mode: 0o755 },
              ...writable,
              ...userFiles({ name: "firebolt", id: USER, home: mounts.data }),
            ],
          },
        ],
        settings: localSettings(
          {
            architecture,
            user: `${USER}:${USER}`,
            environment: [...NODE_ENVIRONMENT.filter((one) => !one.startsWith("PATH=")), "PATH=/usr/bin:/bin"],
            entrypoint: [PROGRAM],
          },
          "firebolt engine (stand-in)",
        ),
      };
    },
  };
}
