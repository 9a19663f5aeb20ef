/**
 * The number of event loop turns during the work, including the last one. Other calls are served in each of them, so
 * this shows that the work was sliced, however slow the machine is.
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
