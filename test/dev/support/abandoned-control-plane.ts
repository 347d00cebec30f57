// A program that starts a control plane, prints its folder and processes on one line, and then waits to be killed.
import { startControlPlane } from "../../../dev/control-plane/control-plane.ts";

const controlPlane = await startControlPlane();
process.stdout.write(`${JSON.stringify({ folder: controlPlane.folder, processes: controlPlane.processes })}\n`);
setInterval(() => undefined, 60_000);
