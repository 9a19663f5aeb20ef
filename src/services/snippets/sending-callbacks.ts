import type { SnippetCallback } from '../../model/snippet.ts'
import type { CallbackForm, FormSnippets } from './callback-form.ts'
import { type CallbackSender, callbackSender } from './callbacks/callback-sender.ts'
import { postCallback } from './callbacks/post-callback.ts'
import type { CallbackSettings } from './snippet-tools.ts'
import type { SnippetView } from './snippet-view.ts'
import type { EndCallbacks, ViewTools } from './watch-snippets.ts'

export interface Sending extends ViewTools {
  readonly callbacks: CallbackSettings
  readonly find: (id: string) => Promise<SnippetView | undefined>
  readonly asked: () => FormSnippets
}

/**
 * Sends the callbacks of snippets in the format that each request names, when all snippets of the report have ended.
 */
export function sendingCallbacks({ callbacks, tools, find, complete, asked }: Sending): CallbackSender & EndCallbacks {
  const { clock, log, instances } = tools
  const { addresses, delaysMs, forms = {} } = callbacks
  const ending = new AbortController()
  const formOf = ({ form }: SnippetCallback): CallbackForm | undefined => (form === undefined ? undefined : forms[form])
  const sender = callbackSender({
    log: callbacks.log,
    clock,
    messages: log,
    ...(delaysMs && { delaysMs }),
    post: (request) => postCallback(request, { clock, addresses }),
    async describe(id) {
      const view = await find(id)
      const callback = view?.status.request.callback
      if (view === undefined || callback === undefined) return undefined
      const status = await complete(view)
      const form = formOf(callback)
      const head = { url: callback.url, secret: callback.secret ?? callbacks.secret }
      if (form !== undefined) return { ...head, method: form.method, body: await form.body(status, asked()) }
      return { ...head, body: await callbacks.body(status, instances(status.request.instance).blobs) }
    },
  })
  return {
    ...sender,
    async ready(status) {
      const { callback } = status.request
      if (callback !== undefined) await formOf(callback)?.ready(status, asked(), ending.signal)
    },
    close() {
      ending.abort()
      sender.close()
    },
  }
}
