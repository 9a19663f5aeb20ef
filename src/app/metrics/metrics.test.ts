import { describe, expect, test } from 'vitest'
import { STATUS } from '../../grpc/status.ts'
import { createMetrics } from './metrics.ts'

/** The lines of one metric, without HELP and TYPE. */
async function lines(metrics: ReturnType<typeof createMetrics>, name: string): Promise<string[]> {
  return (await metrics.text()).split('\n').filter((line) => line.startsWith(name))
}

describe('gRPC calls', () => {
  test('calls are counted by method and status code', async () => {
    const metrics = createMetrics()
    const check = metrics.observer.method('grpc.health.v1.Health', 'Check')
    for (const code of [STATUS.ok, STATUS.ok, STATUS.unavailable]) {
      check.started()
      check.finished(code, 1, 10, 20)
    }
    const labels = 'service="grpc.health.v1.Health",method="Check"'
    expect(await lines(metrics, 'windlass_grpc_calls_total')).toEqual([
      `windlass_grpc_calls_total{${labels},code="OK"} 2`,
      `windlass_grpc_calls_total{${labels},code="UNAVAILABLE"} 1`,
    ])
    expect(await lines(metrics, 'windlass_grpc_received_bytes')).toEqual([
      `windlass_grpc_received_bytes_total{${labels}} 30`,
    ])
    expect(await lines(metrics, 'windlass_grpc_sent_bytes')).toEqual([`windlass_grpc_sent_bytes_total{${labels}} 60`])
  })

  test('a call is in flight until it ends', async () => {
    const metrics = createMetrics()
    const watch = metrics.observer.method('s', 'Watch')
    watch.started()
    watch.started()
    watch.finished(STATUS.cancelled, 5, 0, 0)
    expect(await lines(metrics, 'windlass_grpc_calls_in_flight')).toEqual([
      'windlass_grpc_calls_in_flight{service="s",method="Watch"} 1',
    ])
  })

  test('a call is counted in the bucket of its duration, edges included', async () => {
    const metrics = createMetrics()
    const method = metrics.observer.method('s', 'm')
    for (const ms of [0, 0.1, 0.11, 1, 99.9, 100_000, 100_001]) method.finished(STATUS.ok, ms, 0, 0)
    const [first, ...rest] = await lines(metrics, 'windlass_grpc_call_seconds')
    expect(first).toBe('windlass_grpc_call_seconds_bucket{le="0.0001",service="s",method="m"} 2')
    const at = (le: string) => rest.find((line) => line.includes(`le="${le}"`))?.split(' ')[1]
    const edges = ['0.00025', '0.0005', '0.001', '0.05', '0.1', '50', '100', '+Inf']
    expect(edges.map(at)).toEqual(['3', '3', '4', '4', '5', '5', '6', '7'])
    expect(rest.slice(-2)).toEqual([
      expect.stringMatching(/_sum\{service="s",method="m"\} 200\.102/),
      'windlass_grpc_call_seconds_count{service="s",method="m"} 7',
    ])
  })

  test('calls to unknown methods are counted as one method', async () => {
    const metrics = createMetrics()
    for (let call = 0; call < 3; call++) metrics.observer.method(undefined, undefined).finished(12, 1, 0, 0)
    expect(await lines(metrics, 'windlass_grpc_calls_total')).toEqual([
      'windlass_grpc_calls_total{service="unknown",method="unknown",code="OK"} 0',
      'windlass_grpc_calls_total{service="unknown",method="unknown",code="UNIMPLEMENTED"} 3',
    ])
  })

  test('two observers of one method share its counters', async () => {
    const { observer } = createMetrics()
    expect(observer.method('s', 'm')).toBe(observer.method('s', 'm'))
    expect(observer.method('s', 'm')).not.toBe(observer.method('s', 'n'))
  })
})

test('connections are counted, and those closed for abuse by the limit that they exceeded', async () => {
  const metrics = createMetrics()
  const { observer } = metrics
  for (let connection = 0; connection < 4; connection++) observer.connectionOpened()
  observer.connectionClosed({ code: 0, reason: 'bye' })
  for (let cut = 0; cut < 2; cut++) observer.connectionClosed({ code: 11, reason: 'enough', flood: 'resets' })
  observer.handlerFailed('/s/m', new Error('oh'))
  expect(await lines(metrics, 'windlass_grpc_connections')).toEqual([
    'windlass_grpc_connections 1',
    'windlass_grpc_connections_total 4',
    'windlass_grpc_connections_cut_total{reason="resets"} 2',
  ])
  expect(await lines(metrics, 'windlass_grpc_handler_failures')).toEqual(['windlass_grpc_handler_failures_total 1'])
})

test('HTTP requests are counted by route, method and status', async () => {
  let now = 0
  const metrics = createMetrics(() => now)
  const ask = (answered: { route: string; method: string; status: number }, ms: number) => {
    const finish = metrics.meter.started()
    now += ms
    finish(answered)
  }
  ask({ route: '/readyz', method: 'GET', status: 503 }, 1)
  ask({ route: '/readyz', method: 'GET', status: 503 }, 3)
  ask({ route: 'unmatched', method: 'BREW', status: 404 }, 1)
  expect(await lines(metrics, 'windlass_http_requests_total')).toEqual([
    'windlass_http_requests_total{route="/readyz",method="GET",status="503"} 2',
    'windlass_http_requests_total{route="unmatched",method="other",status="404"} 1',
  ])
  expect(await lines(metrics, 'windlass_http_request_seconds_sum{route="/readyz"}')).toEqual([
    'windlass_http_request_seconds_sum{route="/readyz"} 0.004',
  ])
})

test('the text declares each metric once, and has process and event loop metrics', async () => {
  const metrics = createMetrics()
  const text = await metrics.text()
  expect(metrics.contentType).toBe('text/plain; version=0.0.4; charset=utf-8')
  for (const name of ['windlass_grpc_calls_total', 'process_cpu_seconds_total', 'nodejs_eventloop_lag_p99_seconds']) {
    expect(text.match(new RegExp(`^# TYPE ${name} `, 'gm'))).toHaveLength(1)
  }
  const named = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)
  expect(new Set(named).size).toBe(named.length)
})

test('the functions of the observer work after a spread, as decorators use them', () => {
  const { observer } = createMetrics()
  const { method, connectionOpened } = { ...observer }
  connectionOpened()
  method('s', 'm').started()
})
