/**
 * Calls back about every so many milliseconds while the page is looked at; browsers draw no frames of a page that nobody
 * sees, and so it asks nobody for anything then. The answer ends it.
 */
export function everyFew(ms: number, call: () => void): () => void {
  let last: number | undefined
  let frame = requestAnimationFrame(function next(now) {
    frame = requestAnimationFrame(next)
    last ??= now
    if (now - last < ms) return
    last = now
    call()
  })
  return () => cancelAnimationFrame(frame)
}
