// The instance controller as a process of its own, which ends by SIGKILL just before its write number `argv[3] + 1`
// would leave. Started by tests; prints nothing.
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
