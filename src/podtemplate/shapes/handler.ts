// Normal forms of probes and lifecycle hooks, with the API server's defaults for both.
import type {
  V1ExecAction,
  V1GRPCAction,
  V1HTTPGetAction,
  V1HTTPHeader,
  V1Lifecycle,
  V1LifecycleHandler,
  V1Probe,
  V1SleepAction,
  V1TCPSocketAction,
} from "../../api/generated/kubernetes.ts";
import { listOf, object, pointer, pointerOr, scalar, scalarOr, scalars } from "./shape.ts";

const exec = object<V1ExecAction>({ command: scalars });
const httpGet = object<V1HTTPGetAction>({
  host: scalar,
  httpHeaders: listOf(object<V1HTTPHeader>({ name: scalar, value: scalar })),
  path: scalarOr("/"),
  port: scalar,
  scheme: scalarOr("HTTP"),
});
const tcpSocket = object<V1TCPSocketAction>({ host: scalar, port: scalar });

export const probe = object<V1Probe>({
  exec,
  failureThreshold: scalarOr(3),
  grpc: object<V1GRPCAction>({ port: scalar, service: pointerOr("") }),
  httpGet,
  initialDelaySeconds: scalar,
  periodSeconds: scalarOr(10),
  successThreshold: scalarOr(1),
  tcpSocket,
  terminationGracePeriodSeconds: pointer,
  timeoutSeconds: scalarOr(1),
});

const handler = object<V1LifecycleHandler>({
  exec,
  httpGet,
  sleep: object<V1SleepAction>({ seconds: scalar }),
  tcpSocket,
});

export const lifecycle = object<V1Lifecycle>({ postStart: handler, preStop: handler, stopSignal: pointer });
