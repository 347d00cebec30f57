// The image of the stand-in metadata service: /dedicated-pensieve, which keeps its account in a real PostgreSQL.
import { bundleProgram } from "./bundle.ts";
import { type ImagePlan, localSettings, type Workbench } from "./image-plan.ts";
import { NODE_ENVIRONMENT, NODE_PATH, nodeLayers, userFiles } from "./node-base.ts";
import { sharedLibrariesOf } from "./shared-libraries.ts";

const USER = 1111;
const PROGRAM = "dedicated-pensieve";
const VERSION = "stand-in";

export async function planMetadataImage(bench: Workbench): Promise<ImagePlan> {
  const { root, node, nodeVersion, architecture } = bench;
  const program = await bundleProgram({
    root,
    entry: "dev/stand-ins/metadata/main.ts",
    interpreter: `/${NODE_PATH}`,
    target: "node24",
  });
  return {
    version: VERSION,
    machineFiles: [node],
    contents: [program],
    compose: () => ({
      layers: [
        ...nodeLayers({ node, nodeVersion, libraries: sharedLibrariesOf(node) }),
        {
          comment: "stand-in metadata service",
          entries: [
            { type: "file", path: PROGRAM, content: program, mode: 0o755 },
            ...userFiles({ name: PROGRAM, id: USER, home: "/" }),
          ],
        },
      ],
      settings: localSettings(
        {
          architecture,
          user: `${USER}:${USER}`,
          environment: NODE_ENVIRONMENT,
          entrypoint: [`/${PROGRAM}`],
        },
        "firebolt metadata (stand-in)",
      ),
    }),
  };
}
