import { StringDecoder } from 'node:string_decoder'

/** Splits the output of commands into whole lines; lines of several commands are mixed. */
export interface CommandLines {
  /** Returns the lines that these bytes complete. */
  add(path: string, bytes: Uint8Array): readonly string[]
  /** Returns the rest after the last line, and forgets the command. */
  end(path: string): readonly string[]
}

export function commandLines(): CommandLines {
  const open = new Map<string, { readonly decoder: StringDecoder; text: string }>()
  return {
    add(path, bytes) {
      const rest = open.get(path) ?? { decoder: new StringDecoder('utf8'), text: '' }
      open.set(path, rest)
      const lines = (rest.text + rest.decoder.write(Buffer.from(bytes))).split('\n')
      rest.text = lines.pop() ?? ''
      return lines
    },
    end(path) {
      const rest = open.get(path)
      open.delete(path)
      return rest === undefined || rest.text === '' ? [] : [rest.text]
    },
  }
}
