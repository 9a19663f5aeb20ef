/** Where the door counts its requests. */
export interface HttpMeter {
  /** Called when a request has come; what it gives back is called when it is answered. */
  started(): (answered: HttpAnswered) => void
}

export interface HttpAnswered {
  /** The pattern that matched (`/tasks/:id`), never the path itself: a caller must not be able to make new ones. */
  readonly route: string
  readonly method: string
  readonly status: number
}
