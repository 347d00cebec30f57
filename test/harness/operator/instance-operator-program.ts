// The instance controller as a separate process, which kills itself just before its write number `argv[3] + 1` is sent. Prints
// nothing.
import { startInstanceOperator } from "./instance-operator.ts";

const [kubeconfig = "", allowed = "0"] = process.argv.slice(2);
let writes = 0;
await startInstanceOperator({
  kubeconfig,
  guardWrite: () => {
    writes += 1;
    if (writes > Number(allowed)) process.kill(process.pid, "SIGKILL");
  },
});
