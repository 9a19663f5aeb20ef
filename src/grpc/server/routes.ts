import type { MethodObserver, Observer } from '../observer.ts'
import type { Method, Service } from '../service.ts'

/** The route of a path: looked up once per repeated header block, otherwise once per call. */
export interface Route {
  readonly path: string
  /** Undefined for an unknown path. */
  readonly method: Method | undefined
  readonly observer: MethodObserver
}

/** Truncates a name, because the path is from the peer and is sent back to it. */
const short = (name: string): string => (name.length > 200 ? `${name.slice(0, 200)}…` : name)

export class Routes {
  readonly #byPath = new Map<string, Route>()
  readonly #services = new Set<string>()
  readonly #unknown: MethodObserver

  constructor(services: readonly Service[], observer: Observer) {
    this.#unknown = observer.method(undefined, undefined)
    for (const service of services) {
      if (this.#services.has(service.name)) throw new Error(`service ${service.name} is registered twice`)
      this.#services.add(service.name)
      for (const [name, method] of Object.entries(service.methods)) {
        const path = `/${service.name}/${name}`
        this.#byPath.set(path, { path, method, observer: observer.method(service.name, name) })
      }
    }
  }

  find(path: string): Route {
    return this.#byPath.get(path) ?? { path, method: undefined, observer: this.#unknown }
  }

  /** Returns the text of the error: whether the method or the whole service is unknown. */
  explainMissing(path: string): string {
    const service = path.split('/')[1] ?? ''
    return this.#services.has(service) ? `unknown method ${short(path)}` : `unknown service ${short(service)}`
  }
}
