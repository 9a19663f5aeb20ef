/** Counts the requests of the door. */
export interface HttpMeter {
  /** Called when a request arrives; returns a function to call when it is answered. */
  started(): (answered: HttpAnswered) => void
}

export interface HttpAnswered {
  /**
   * The route pattern (`/tasks/:id`), not the path: callers choose paths, and each value would be a new time series.
   */
  readonly route: string
  readonly method: string
  readonly status: number
}
