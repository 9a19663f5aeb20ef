/** Does the work for every item, so many at a time, and stops at the first that fails: then those under way are waited for. */
export async function atOnce<T>(items: readonly T[], most: number, work: (item: T) => Promise<void>): Promise<void> {
  let next = 0
  let hasFailed = false
  const one = async (): Promise<void> => {
    while (next < items.length && !hasFailed) {
      try {
        await work(items[next++] as T)
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
  }
  const lanes = await Promise.allSettled(Array.from({ length: Math.min(most, items.length) }, one))
  const failed = lanes.find((lane) => lane.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}
