// An error as one line for the user. Bugs of the program keep their stack.
import {
  CredentialsError,
  isForbidden,
  KubeApiError,
  KubeConfigError,
  KubeConnectionError,
  KubeTimeoutError,
} from "@firebolt-operator/kube";
import { CommandError } from "./exit-codes.ts";

export function describeError(error: unknown): string {
  if (error instanceof CommandError || error instanceof KubeConfigError) return error.message;
  if (error instanceof CredentialsError)
    return isFileError(error.cause)
      ? `${error.message}; the kubeconfig names this file: correct the path there, or log in again`
      : error.message;
  if (error instanceof KubeTimeoutError) return `${error.message} (use --request-timeout to allow more time)`;
  if (error instanceof KubeConnectionError) return `cannot reach the cluster: ${error.message}`;
  if (error instanceof KubeApiError)
    return isForbidden(error) ? `permission denied: ${error.serverMessage}` : error.serverMessage;
  if (error instanceof Error) return error.stack ?? error.message;
  return String(error);
}

const isFileError = (cause: unknown): boolean =>
  cause instanceof Error && "syscall" in cause && (cause.syscall === "open" || cause.syscall === "stat");
