/** A promise that is created only when it is read: most callers never read headers and trailers. */
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
      // Readers get the rejection; without readers it must not become an unhandled rejection.
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
