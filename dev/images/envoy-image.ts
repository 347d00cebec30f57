// The gateway's image: the real Envoy, and the shell that its pod's preStop hook needs.
import { PINS } from "../assets/pins.ts";
import { resolveAssets } from "../assets/resolver.ts";
import type { Progress } from "../assets/ticker.ts";
import { programFiles, SHELL_LINK, shellPrograms } from "./host-programs.ts";
import { type ImagePlan, localSettings, type Workbench } from "./image-plan.ts";
import { baseFolders, userFiles } from "./node-base.ts";

const USER = 101;

export async function planEnvoyImage({ architecture }: Workbench, progress: Progress): Promise<ImagePlan> {
  const envoy = (await resolveAssets(["envoy"], { progress })).get("envoy");
  if (envoy === undefined) throw new Error("no envoy was found");
  const programs = [...shellPrograms(["cat", "sleep"]), { from: envoy, to: "usr/local/bin/envoy" }];
  return {
    version: PINS.envoy.version,
    machineFiles: programs.map(({ from }) => from),
    contents: [],
    compose: () => ({
      layers: [
        {
          comment: `envoy ${PINS.envoy.version}`,
          entries: [
            ...programFiles(programs),
            SHELL_LINK,
            ...baseFolders(),
            ...userFiles({ name: "envoy", id: USER, home: "/" }),
          ],
        },
      ],
      settings: localSettings(
        // No entry point: the pod's arguments begin with the program's name.
        { architecture, user: `${USER}:${USER}`, environment: ["PATH=/usr/local/bin:/usr/bin:/bin"], entrypoint: [] },
        "envoy",
      ),
    }),
  };
}
