/**
 * ABBA: each pass measures every contestant once, and every second pass does so in the opposite order. So a machine
 * that gets steadily slower or faster affects all contestants equally.
 */
export function abba<T>(contestants: readonly T[], rounds: number): readonly T[] {
  const there = [...contestants]
  const back = there.toReversed()
  return Array.from({ length: rounds }, () => [...there, ...back]).flat()
}
