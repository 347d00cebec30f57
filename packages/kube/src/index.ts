// What all other entries share, and what pure code may use: objects and keys, resource types, errors, the clock, the
// logger.

export { changedFields } from "./core/changed-fields.ts";
export { type Clock, sleep, systemClock } from "./core/clock.ts";
export {
  type ApiStatus,
  CredentialsError,
  DecodeError,
  InvariantError,
  isAlreadyExists,
  isConflict,
  isFieldConflict,
  isForbidden,
  isGone,
  isInvalid,
  isNotFound,
  isRejection,
  KubeApiError,
  KubeConfigError,
  KubeConnectionError,
  KubeTimeoutError,
  NotLeaderError,
  ResponseTooLargeError,
  type StatusCause,
} from "./core/errors.ts";
export { type Fields, isFields } from "./core/fields.ts";
export {
  type LabelRequirement,
  type LabelSelector,
  LabelSelectorError,
  matchesLabels,
  parseLabelSelector,
} from "./core/label-selector.ts";
export { type LogFields, type Logger, silentLogger } from "./core/logger.ts";
export {
  type DeepReadonly,
  formatKey,
  type KubeList,
  type KubeObject,
  keyOf,
  type ObjectKey,
  type ObjectMeta,
  type OwnerReference,
  parseKey,
} from "./core/object.ts";
export { type Child, controllerUid, isOwnedBy, type OwnedMetadata, viewChild } from "./core/owned-child.ts";
export {
  apiVersionOf,
  collectionPath,
  defineResource,
  groupResourceOf,
  objectPath,
  type ResourceType,
} from "./core/resource.ts";
export { pause, untilAborted } from "./core/until-aborted.ts";
export { WakeUp } from "./core/wake-up.ts";
