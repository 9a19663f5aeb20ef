import { type InteropServer, SERVICE, type Trust } from './conversation.ts'
import { pythonScript } from './python-script.ts'

/** The Interop service on gRPC's C core. */
export async function pythonServer(trust?: Trust): Promise<InteropServer> {
  const bound = Promise.withResolvers<number>()
  const script = pythonScript('server.py', { service: SERVICE, ...trust }, (words) =>
    bound.resolve((words as { port: number }).port),
  )
  script.gone.finally(() => bound.reject(new Error('server.py ended before it listened')))
  return { address: { host: '127.0.0.1', port: await bound.promise }, close: () => script.close() }
}
