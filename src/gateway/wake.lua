-- Holds a request for an engine that cannot serve until it can. Appended to routing.lua: it wraps the hook that picks the engine,
-- and never touches the request, only lets it pass or answers it.
--
-- The wake agent beside this gateway decides. Asking it about every request would cost half the throughput, so each worker keeps
-- what it was told. The agent numbers its view (the epoch) and changes the number as soon as any engine may stop being ready: what
-- was told under the present epoch is still true. A worker asks for the epoch once a second, on the occasion of a request; while the
-- agent says, through the route, that something is changing, every 50 ms.
--
-- No agent, no hold: without the agent's own header in the answer a request passes, as if there were no agent.

local AGENT = "{{cluster}}"
local DECISION = "{{header.decision}}"
local EPOCH = "{{header.epoch}}"
local CHECK_TIMEOUT_MS = 2000
local HOLD_TIMEOUT_MS = 125000
-- How long an epoch counts as the present one: normally, for others while one request is asking, and while something changes.
local EPOCH_MS = 1000
local ASKING_MS = 1250
local CHANGING_MS = 50
-- An agent that cannot be reached is left alone for a moment; one that does not answer, for longer.
local ABSENT_MS = 250
local SILENT_MS = 5000
local MOST_KNOWN = 4096

local pick_engine = envoy_on_request

-- Of this worker alone: every worker runs the script by itself. Engine to the epoch under which it was ready.
local known = {}
local known_count = 0
local epoch = nil
local epoch_at = 0
local asking = false
local left_alone_until = 0

-- Clocks may be set back: what lies ahead is not within any time.
local function within(at, now, span)
  return now >= at and now - at < span
end

local function is_known(handle, engine, now)
  if not epoch or known[engine] ~= epoch then
    return false
  end
  local span = asking and ASKING_MS or EPOCH_MS
  return within(epoch_at, now, CHANGING_MS)
    or (within(epoch_at, now, span) and not handle:metadata():get("{{metadata.changing}}"))
end

local function remember(engine)
  if not known[engine] then
    if known_count >= MOST_KNOWN then
      known, known_count = {}, 0
    end
    known_count = known_count + 1
  end
  known[engine] = epoch
end

-- Answers the agent's decision, nil without one, and the status.
local function ask(handle, path, timeout_ms)
  local began = handle:timestamp()
  local headers = handle:httpCall(
    AGENT,
    { [":method"] = "GET", [":path"] = path, [":authority"] = AGENT },
    "",
    timeout_ms
  )
  local decision = headers[DECISION]
  local now = handle:timestamp()
  if decision then
    -- Answers may overtake each other: an older view never replaces a newer one.
    local told = tonumber(headers[EPOCH])
    if told and (not epoch or told >= epoch) then
      epoch, epoch_at = told, now
    end
  else
    epoch = nil
    left_alone_until = now + (now - began >= timeout_ms and SILENT_MS or ABSENT_MS)
  end
  return decision, headers[":status"]
end

-- Answers nil when the request may pass, else the status and the text to refuse it with.
local function judge(handle, engine)
  local now = handle:timestamp()
  if is_known(handle, engine, now) or within(left_alone_until - SILENT_MS, now, SILENT_MS) then
    return nil
  end
  asking = true
  local decision, status = ask(handle, "{{path.check}}?{{parameter.engine}}=" .. engine, CHECK_TIMEOUT_MS)
  asking = false
  if decision == "{{decision.wait}}" then
    decision, status = ask(handle, "{{path.hold}}?{{parameter.engine}}=" .. engine, HOLD_TIMEOUT_MS)
  end
  if not decision or status == "200" then
    -- Not "leaving": an engine that is asked to stop serves this request, and perhaps not the next.
    if decision == "{{decision.ready}}" or decision == "{{decision.released}}" then
      remember(engine)
    end
    return nil
  end
  if decision == "{{decision.unknown}}" then
    return "404", 'there is no engine "' .. engine .. '" in this namespace'
  end
  if decision == "{{decision.stopped}}" then
    return "503", 'engine "' .. engine .. '" is stopped, and no query starts it because auto-stop is off: set spec.replicas, or: kubectl firebolt start ' .. engine
  end
  if decision == "{{decision.denied}}" then
    return "503", 'engine "' .. engine .. '" is stopped, and the API server rejects the request of this gateway to start it: its service account was replaced, or lost its rights; retry shortly'
  end
  return "503", "engine is not available; retry shortly"
end

function envoy_on_request(handle)
  local engine = pick_engine(handle)
  if not engine then
    return nil
  end
  local status, text = judge(handle, engine)
  if not status then
    return engine
  end
  local headers = { [":status"] = status }
  if status == "503" then
    headers["retry-after"] = "10"
  end
  handle:respond(headers, text)
  return nil
end
