// Confirmation before a deletion. Without a terminal --yes is required: a script that forgets it changes nothing.

import { CommandError, EXIT } from "../command-line/exit-codes.ts";
import type { CommandContext } from "../commands/command.ts";

export async function confirm({ flags, terminal, signal }: CommandContext): Promise<void> {
  if (flags.on("yes")) return;
  if (terminal.ask === undefined)
    throw new CommandError("nothing was changed: use --yes to confirm without a terminal", EXIT.refused);
  const answer = await terminal.ask('Type "yes" to delete it: ', signal);
  if (answer.trim().toLowerCase() !== "yes")
    throw new CommandError('nothing was changed: not confirmed with "yes"', EXIT.refused);
}
