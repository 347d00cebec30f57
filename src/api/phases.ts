// The phases of engines and instances. The legal transitions are in each feature's own table.

export const INSTANCE_PHASES = ["Provisioning", "Ready", "Degraded", "Failed"] as const;
export type InstancePhase = (typeof INSTANCE_PHASES)[number];

/** `stable` and `stopped` are terminal; the others are steps of a rollout. */
export const ENGINE_PHASES = ["creating", "switching", "draining", "cleaning", "stable", "stopped"] as const;
export type EnginePhase = (typeof ENGINE_PHASES)[number];

/** Reasons of auto-stop's last decision. */
export const AUTO_STOP_REASONS = [
  "Disabled",
  "WakeRequested",
  "ScheduleActive",
  "Stopped",
  "ScrapeFailed",
  "ActivityObserved",
  "Initializing",
  "Idle",
] as const;
export type AutoStopReason = (typeof AUTO_STOP_REASONS)[number];

/** Steps of a signing key rotation that wait for the engines. */
export const ROTATION_STEPS = ["AwaitingPromotion", "AwaitingRetireAnchor", "AwaitingRemoval"] as const;
export type RotationStep = (typeof ROTATION_STEPS)[number];

export const SIGNING_KEY_PHASES = ["Active", "ValidationOnly", "Removing"] as const;
export type SigningKeyPhase = (typeof SIGNING_KEY_PHASES)[number];
