/**
 * Calls back at the interval while the page is visible; browsers draw no frames of a hidden page, so no requests are
 * sent then. Returns a function that ends it.
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
