// Generated from routing.lua by `npm run generate`: edit that file, never this one.

/** The script that picks the engine of a request. */
export const ROUTING_LUA = `-- Picks the engine of a request (select_engine) and points the request at that engine (dispatch). A request is sent to the cluster that
-- a header names which only the scripts set: it is removed from what clients send, and without it a request goes nowhere. The forward
-- proxy resolves whatever :authority says, so only a request with an authority made by this script gets the header for it.
--
-- What differs between gateways comes from the route's metadata, so that this text is the same for every gateway.

local SELECTOR_HEADER = "x-firebolt-engine"
local SELECTOR_PARAMETER = "engine"
local LABEL_PARAMETER = "query_label"
local LABEL_LENGTH = 128
local CLUSTER_HEADER = "x-firebolt-cluster"
local BY_NAME = "dynamic_forward_proxy"
local SHOWN_HOST_LENGTH = 128
-- How many names and hosts a worker remembers, and the longest host among them: callers choose them.
local MOST_REMEMBERED = 4096
local LONGEST_HOST = 320

-- Of this worker alone: every worker runs the script by itself. What the metadata of the route says; it never changes while this process
-- runs, and reading it costs more than the rest of a common request.
local gateway = nil

-- A table that forgets everything when it is full.
local function new_memory()
  return { entries = {}, count = 0 }
end

local function remember(memory, key, value)
  if memory.count >= MOST_REMEMBERED then
    memory.entries, memory.count = {}, 0
  end
  memory.count = memory.count + 1
  memory.entries[key] = value
end

local names = new_memory()
local hosts = new_memory()

local function as_set(list)
  local set = {}
  for _, text in ipairs(list or {}) do
    set[text] = true
  end
  return set
end

-- nil for a request that no route matches, such as CONNECT: it has no metadata, and must not be remembered for those that have.
local function read_gateway(handle)
  local metadata = handle:metadata()
  local domains = metadata:get("host_domains")
  local authority_suffix = metadata:get("engine_authority_suffix")
  if not authority_suffix then
    return nil
  end
  return {
    authority_suffix = authority_suffix,
    -- nil: hosts name no engine, and are not read.
    domains = domains,
    -- Hosts that name the gateway and no engine.
    nameless = as_set(metadata:get("own_hosts")),
    default_engine = metadata:get("default_engine"),
  }
end

local function decode_hex(digits)
  return string.char(tonumber(digits, 16))
end

-- The text behind a percent-encoding, or nil when a "%" is not followed by two hexadecimal digits.
local function decode(text)
  local stripped = text:gsub("%%%x%x", "")
  if stripped:find("%", 1, true) then
    return nil
  end
  return (text:gsub("+", " "):gsub("%%(%x%x)", decode_hex))
end

-- One DNS label. A dot would let a caller leave the namespace, a colon or an at sign would change the authority.
local function is_label(text)
  return #text >= 1 and #text <= 63 and not text:find("[^a-z0-9-]") and text:sub(1, 1) ~= "-" and text:sub(-1) ~= "-"
end

-- Whether a text is the name of an engine, as far as the text tells. Names that passed are remembered.
local function is_name(text)
  if names.entries[text] then
    return true
  end
  if not is_label(text) then
    return false
  end
  remember(names, text, true)
  return true
end

-- Takes the selector out of a path whose parameters begin at the mark. Answers its value (nil without one) and the path without it; or nil,
-- nil and a refusal.
local function take_parameter(path, mark)
  -- A key that means the selector is spelled like it, or holds an encoded character.
  if not mark or not (path:find(SELECTOR_PARAMETER, mark, true) or path:find("%", mark, true)) then
    return nil, path, nil
  end
  local value = nil
  local kept = {}
  for part in (path:sub(mark + 1) .. "&"):gmatch("([^&]*)&") do
    local equals = part:find("=", 1, true)
    local key = equals and part:sub(1, equals - 1) or part
    if decode(key) == SELECTOR_PARAMETER then
      if value then
        return nil, nil, "multiple engine query parameters"
      end
      value = decode(equals and part:sub(equals + 1) or "")
      if not value then
        return nil, nil, "invalid engine query parameter encoding"
      end
    else
      kept[#kept + 1] = part
    end
  end
  if not value then
    return nil, path, nil
  end
  local base = path:sub(1, mark - 1)
  local query = table.concat(kept, "&")
  return value, query == "" and base or base .. "?" .. query, nil
end

-- The label of a query as the access log may have it, or nil without one. Decoded it can hold anything, also a line break and a whole line
-- of the log: of other characters than these only the number is kept.
local function loggable_label(path, mark)
  if not path:find(LABEL_PARAMETER, mark, true) then
    return nil
  end
  for part in (path:sub(mark + 1) .. "&"):gmatch("([^&]*)&") do
    local key, text = part:match("^([^=]*)=(.+)$")
    if key == LABEL_PARAMETER then
      return ((decode(text) or text):sub(1, LABEL_LENGTH):gsub("[^%w._:-]", "_"))
    end
  end
  return nil
end

-- What an authority says about the engine: { engine = text } below a domain of this gateway, { nameless = true } where it names the gateway
-- itself, and neither anywhere else. The text below a domain is not checked.
local function read_host(authority)
  -- A port, then the dot of a complete name.
  local host = authority:lower():gsub(":%d*$", ""):gsub("%.$", "")
  local is_address = host:find("^%d+%.%d+%.%d+%.%d+$") or host:find("^%[[%x:.]+%]$")
  if is_address or gateway.nameless[host] then
    return { nameless = true }
  end
  for _, domain in ipairs(gateway.domains) do
    if host == domain then
      return { nameless = true }
    end
    if host:sub(-#domain - 1) == "." .. domain then
      return { engine = host:sub(1, -#domain - 2) }
    end
  end
  return {}
end

local function host_of(authority)
  local host = hosts.entries[authority]
  if not host then
    host = read_host(authority)
    if #authority <= LONGEST_HOST then
      remember(hosts, authority, host)
    end
  end
  return host
end

local function shown(authority)
  return (authority:sub(1, SHOWN_HOST_LENGTH):gsub("[^%w.:_%[%]-]", "?"))
end

local function host_refusal(host, authority)
  local way_out = "; name the engine by <engine>.<domain>, the header X-Firebolt-Engine or the parameter engine"
  if host.engine then
    return 'host "' .. shown(authority) .. '" does not name an engine: before the domain there must be one DNS label' .. way_out
  end
  return 'host "' .. shown(authority) .. '" is in no domain of this gateway (' .. table.concat(gateway.domains, ", ") .. ")" .. way_out
end

-- The engine of a request by header, parameter, host, default, in this order; selectors that name different engines are refused. Answers the
-- engine and the path to send to it, or nil, nil and the text of the refusal.
local function select_engine(headers, header, path, mark)
  local parameter, remaining, refusal = take_parameter(path, mark)
  if refusal then
    return nil, nil, refusal
  end
  if header and not is_name(header) then
    return nil, nil, "invalid X-Firebolt-Engine header"
  end
  if header and parameter and parameter ~= header then
    return nil, nil, "conflicting engine selectors"
  end
  if not header and parameter and not is_name(parameter) then
    return nil, nil, "invalid or missing engine selector"
  end
  local named = header or parameter
  if gateway.domains then
    local authority = headers:get(":authority") or ""
    local host = host_of(authority)
    if named then
      if host.engine and host.engine ~= named then
        return nil, nil, "conflicting engine selectors"
      end
    elseif host.engine and is_name(host.engine) then
      named = host.engine
    elseif not host.nameless then
      return nil, nil, host_refusal(host, authority)
    end
  end
  named = named or gateway.default_engine
  if not named then
    return nil, nil, "invalid or missing engine selector"
  end
  return named, remaining, nil
end

-- Lets the request be sent to the engine's Service, resolved by name. Nothing else may set the authority: it is what is resolved.
local function send_by_name(headers, engine)
  headers:replace(":authority", engine .. gateway.authority_suffix)
  headers:replace(CLUSTER_HEADER, BY_NAME)
end

-- Decides where a request goes once its engine is known. A script appended to this one may put another function here. A request
-- that passes without a cluster gets 503: the routes send it nowhere. The headers are out of scope after a call to another cluster.
local dispatch = function(_, headers, engine)
  send_by_name(headers, engine)
end

-- Most requests have the header and no parameters: they cost two look-ups and no replacement.
local function route(handle, headers)
  gateway = gateway or read_gateway(handle)
  if not gateway then
    return nil, "this gateway routes no such request"
  end
  local path = headers:get(":path") or ""
  local mark = path:find("?", 1, true)
  local label = mark and loggable_label(path, mark)
  if label then
    handle:streamInfo():dynamicMetadata():set("envoy.filters.http.lua", LABEL_PARAMETER, label)
  end
  local header = headers:get(SELECTOR_HEADER)
  local engine, remaining, refusal = select_engine(headers, header, path, mark)
  if refusal then
    return nil, refusal
  end
  -- Every replacement makes Envoy pick the route again: what is right already stays.
  if remaining ~= path then
    headers:replace(":path", remaining)
  end
  if header ~= engine then
    headers:replace(SELECTOR_HEADER, engine)
  end
  return engine, nil
end

function envoy_on_request(handle)
  -- After an error inside the script Envoy would forward the request as it came: without a cluster, which is a 503.
  local headers = handle:headers()
  local ran, engine, refusal = pcall(route, handle, headers)
  if not ran then
    handle:logErr("routing failed: " .. tostring(engine))
    handle:respond({ [":status"] = "500" }, "routing failed")
    return
  end
  if refusal then
    handle:respond({ [":status"] = "400" }, refusal)
    return
  end
  dispatch(handle, headers, engine)
end
`;
