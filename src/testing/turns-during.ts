/**
 * How many turns the event loop had while the work was under way, the last one included. In each of them other calls
 * were served, so this shows that work came in slices, however slow the machine is.
 */
export async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await work.finally(() => {
    isOver = true
  })
  return turns
}
