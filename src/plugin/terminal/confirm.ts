// Asks before something is deleted. Where nobody can answer, --yes is wanted: a script that forgets it changes nothing.
import type { CommandContext } from "../command.ts";
import { CommandError, EXIT } from "../exit-codes.ts";

export async function confirm({ flags, terminal, signal }: CommandContext): Promise<void> {
  if (flags.on("yes")) return;
  if (terminal.ask === undefined)
    throw new CommandError("nothing has been changed: without a terminal to ask on, --yes is needed", EXIT.refused);
  const answer = await terminal.ask('Type "yes" to delete it: ', signal);
  if (answer.trim().toLowerCase() !== "yes")
    throw new CommandError('nothing has been changed: the answer was not "yes"', EXIT.refused);
}
