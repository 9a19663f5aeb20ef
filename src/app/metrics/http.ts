import type { Registry } from 'prom-client'
import type { HttpAnswered, HttpMeter } from '../../doors/http/server/http-meter.ts'
import { DurationHistogram } from './durations.ts'
import { expose } from './exposition.ts'

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Counts HTTP requests as windlass_http_… */
export function httpFigures(registry: Registry, now: () => number): HttpMeter {
  const requests = new Map<string, { labels: Record<string, string>; value: number }>()
  const durations = new Map<string, DurationHistogram>()
  const seconds = 'windlass_http_request_seconds'
  expose(registry, {
    name: 'windlass_http_requests_total',
    help: 'Answered HTTP requests. Requests without a matching route have the route "unmatched".',
    type: 'counter',
    samples: () => requests.values(),
  })
  expose(registry, {
    name: seconds,
    help: 'Seconds from an HTTP request to the start of its response.',
    type: 'histogram',
    samples: () => [...durations].flatMap(([route, one]) => [...one.samples(seconds, { route })]),
  })

  const count = ({ route, method, status }: HttpAnswered): void => {
    const verb = METHODS.has(method) ? method : 'other'
    const key = `${route} ${verb} ${status}`
    const entry = requests.get(key) ?? { labels: { route, method: verb, status: String(status) }, value: 0 }
    requests.set(key, entry)
    entry.value++
  }

  return {
    started() {
      const begin = now()
      return (answered) => {
        count(answered)
        const taken = durations.get(answered.route) ?? new DurationHistogram()
        durations.set(answered.route, taken)
        taken.add(now() - begin)
      }
    },
  }
}
