/** A promise that is made only if someone asks for it: most calls' headers and trailers are never looked at. */
export class Later<T> {
  #state: 'open' | 'kept' | 'broken' = 'open'
  #value: T | undefined
  #error: unknown
  #deferred: PromiseWithResolvers<T> | undefined

  get promise(): Promise<T> {
    if (this.#state === 'kept') return Promise.resolve(this.#value as T)
    if (this.#state === 'broken') return Promise.reject(this.#error)
    if (this.#deferred === undefined) {
      this.#deferred = Promise.withResolvers<T>()
      // Whoever asked will see the failure; that nobody else does is no crash.
      this.#deferred.promise.catch(() => {})
    }
    return this.#deferred.promise
  }

  /** Only the first outcome counts. */
  resolve(value: T): void {
    if (this.#state !== 'open') return
    this.#state = 'kept'
    this.#value = value
    this.#deferred?.resolve(value)
  }

  reject(error: unknown): void {
    if (this.#state !== 'open') return
    this.#state = 'broken'
    this.#error = error
    this.#deferred?.reject(error)
  }
}
