// Exit codes, and the errors that carry one. The help and the manual print this table.

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  notYet: 5,
  sqlRefused: 6,
  incomplete: 7,
  rolls: 10,
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_MEANINGS: readonly (readonly [ExitCode, string])[] = [
  [EXIT.ok, "success"],
  [EXIT.failed, "failure: the cluster cannot be reached or rejected the request"],
  [EXIT.usage, "wrong usage: an unknown flag or argument, or a name is needed to choose one of several"],
  [EXIT.notFound, "the object does not exist"],
  [
    EXIT.refused,
    "refused: plan found something that would be rejected; create found an existing engine; wake without auto-stop; uninstall was not confirmed or objects remain",
  ],
  [EXIT.notYet, "not in the desired state, or not within --timeout"],
  [EXIT.sqlRefused, "engine query: the engine rejected the statement, or failed while it ran it"],
  [EXIT.incomplete, "support-bundle: written, but something could not be read; gaps.txt in it lists what"],
  [EXIT.rolls, "plan --detailed-exit-code: something would roll"],
  [EXIT.interrupted, "interrupted by Ctrl+C"],
];

/** A failure that is explained to the user and is not a bug of the program. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = EXIT.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The command line is wrong. */
export class UsageError extends CommandError {
  override readonly name = "UsageError";

  constructor(message: string) {
    super(message, EXIT.usage);
  }
}
