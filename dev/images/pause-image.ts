// The image of the container that holds a pod's namespaces open.
import { type ImagePlan, localSettings, type Workbench } from "./image-plan.ts";
import { pauseProgram } from "./pause-program.ts";

const USER = "65535:65535";

export function planPauseImage({ architecture }: Workbench): ImagePlan {
  const content = pauseProgram(architecture);
  return {
    version: "own",
    machineFiles: [],
    contents: [content],
    compose: () => ({
      layers: [{ comment: "pause", entries: [{ type: "file", path: "pause", content, mode: 0o755 }] }],
      settings: localSettings({ architecture, user: USER, environment: ["PATH=/"], entrypoint: ["/pause"] }, "pause"),
    }),
  };
}
