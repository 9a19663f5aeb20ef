import type { Channel } from '../../grpc/channel.ts'
import type { ClientCall } from '../../grpc/client-call.ts'
import { type OutputPiece, outputPieceToProto } from '../../wire/worker-stream.ts'

const PATH = '/windlass.worker.v1.WorkerLink/ReportOutput'

/** What commands print, on its way to who watches. Nothing waits for it, and what the server has no time for is lost. */
export interface OutputLine {
  send(piece: OutputPiece): void
  close(): void
}

export function outputStream(channel: Channel): OutputLine {
  let call: ClientCall | undefined
  let isBehind = false
  const open = (): ClientCall => {
    const opened = channel.open(PATH)
    const over = (): void => {
      if (call === opened) call = undefined
      isBehind = false
    }
    opened.trailers.then(over, over)
    return opened
  }
  return {
    send(piece) {
      if (isBehind) return
      call ??= open()
      if (call.write(outputPieceToProto(piece))) return
      isBehind = true
      const caughtUp = (): void => {
        isBehind = false
      }
      call.drained().then(caughtUp, caughtUp)
    },
    close() {
      call?.finish()
      call = undefined
    },
  }
}
