// Waits for several concurrent starts. Unlike Promise.all it waits for the others when one fails, so that the clean-up
// does not race with a start.

export async function together<T extends readonly unknown[] | []>(
  starts: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(starts);
  return Promise.all(starts);
}
