// The image of the stand-in engine, with what the operator's pods expect of the real one: bash, /opt/firebolt/firebolt, and two
// folders that are its to write.
import { bundleProgram } from "./bundle.ts";
import { type ImagePlan, localSettings, type Workbench } from "./image-plan.ts";
import { programFiles, SHELL_LINK, shellPrograms } from "./machine-programs.ts";
import { NODE_ENVIRONMENT, NODE_PATH, nodeLayers, userFiles } from "./node-base.ts";
import { sharedLibrariesOf } from "./shared-libraries.ts";
import type { TarEntry } from "./tar.ts";

const USER = 3473;
const VERSION = "stand-in";

export async function planEngineImage(bench: Workbench): Promise<ImagePlan> {
  const { root, node, nodeVersion, architecture } = bench;
  const program = await bundleProgram({
    root,
    entry: "dev/stand-ins/engine/main.ts",
    interpreter: `/${NODE_PATH}`,
    target: "node24",
  });
  const shell = shellPrograms(["cat"]);
  const writable = ["var/lib/firebolt", "run/firebolt"].map((path): TarEntry => {
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
              { type: "file", path: "opt/firebolt/firebolt", content: program, mode: 0o755 },
              ...writable,
              ...userFiles({ name: "firebolt", id: USER, home: "/var/lib/firebolt" }),
            ],
          },
        ],
        settings: localSettings(
          {
            architecture,
            user: `${USER}:${USER}`,
            environment: [...NODE_ENVIRONMENT.filter((one) => !one.startsWith("PATH=")), "PATH=/usr/bin:/bin"],
            entrypoint: ["/opt/firebolt/firebolt"],
          },
          "firebolt engine (stand-in)",
        ),
      };
    },
  };
}
