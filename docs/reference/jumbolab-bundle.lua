-- A dissector of Jumbolab's bundles for Wireshark and tshark: packets that
-- travel in one large frame, as docs/reference/formats.md describes them.
--
--     tshark -X lua_script:docs/reference/jumbolab-bundle.lua -r FILE -V
--
-- or copy it to Wireshark's folder for plugins of the user's. Bundles are found
-- behind IPv4 and IPv6 by the protocol number 253 and behind UDP by port 50253.
-- Behind a label nothing says what follows; "Decode As" does, here for 1000:
--
--     tshark -X lua_script:docs/reference/jumbolab-bundle.lua -d mpls.label==1000,jumbolab -r FILE -V

local bundle = Proto("jumbolab", "Jumbolab Bundle")

local HEADER, ENTRY, VERSION = 6, 4, 1
local PROTOCOL, PORT = 253, 50253

local field = bundle.fields
field.count = ProtoField.uint16("jumbolab.count", "Packets put in")
field.average = ProtoField.uint16("jumbolab.average", "Average length as packed")
field.begins_within = ProtoField.bool("jumbolab.begins_within", "Begins within a packet", 16, nil, 0x8000)
field.ends_within = ProtoField.bool("jumbolab.ends_within", "Ends within a packet", 16, nil, 0x4000)
field.version = ProtoField.uint16("jumbolab.version", "Version", base.DEC, nil, 0x2000)
field.unit = ProtoField.uint16("jumbolab.unit", "Unit of times", base.DEC,
    { [0] = "1 us", [1] = "10 us" }, 0x1000)
field.sequence = ProtoField.uint16("jumbolab.sequence", "Sequence number", base.DEC, nil, 0x0fff)
field.entry = ProtoField.none("jumbolab.entry", "Entry")
field.length = ProtoField.uint16("jumbolab.length", "Length")
field.waited = ProtoField.uint16("jumbolab.waited", "Waited, in units")
field.waited_us = ProtoField.uint32("jumbolab.waited_us", "Waited, in us")
field.dropped = ProtoField.uint16("jumbolab.dropped", "Number of a dropped packet")
field.live = ProtoField.uint16("jumbolab.live", "Packets left")
field.live_bytes = ProtoField.uint32("jumbolab.live_bytes", "Bytes of packets left")
field.inner = ProtoField.uint16("jumbolab.inner", "Packet")
field.padding = ProtoField.bytes("jumbolab.padding", "Padding")

local found = bundle.experts
found.version = ProtoExpert.new("jumbolab.bad_version", "Unknown version",
    expert.group.UNDECODED, expert.severity.WARN)
found.length = ProtoExpert.new("jumbolab.bad_length", "Lengths that do not agree",
    expert.group.MALFORMED, expert.severity.ERROR)
found.inner_dropped = ProtoExpert.new("jumbolab.inner_dropped", "Packets were dropped on the way",
    expert.group.SEQUENCE, expert.severity.NOTE)

local ip = { [4] = Dissector.get("ip"), [6] = Dissector.get("ipv6") }
local data = Dissector.get("data")

-- One packet that is left, as what it is by itself; a piece of one as bytes.
local function inner(number, bytes, piece, pinfo, tree)
    local branch = tree:add(field.inner, bytes, number)
    branch:append_text(string.format(" (%s%d bytes)", piece and "piece of a packet, " or "", bytes:len()))
    local dissector = not piece and ip[bytes(0, 1):bitfield(0, 4)] or data
    dissector:call(bytes:tvb(), pinfo, branch)
end

local function entries(buffer, count, unit, tree)
    local lengths, live, bytes = {}, 0, 0
    for number = 0, count - 1 do
        local at = HEADER + ENTRY * number
        local length, waited = buffer(at, 2):uint(), buffer(at + 2, 2):uint()
        local branch = tree:add(field.entry, buffer(at, ENTRY))
        branch:set_text(string.format("Entry %d: ", number))
        branch:add(field.length, buffer(at, 2))
        branch:add(field.waited, buffer(at + 2, 2))
        local micros = branch:add(field.waited_us, buffer(at + 2, 2), waited * unit)
        micros:set_generated()
        if length == 0 then
            branch:append_text("dropped")
            branch:add(field.dropped, buffer(at, 2), number):set_generated()
        else
            branch:append_text(string.format("%d bytes", length))
            live, bytes = live + 1, bytes + length
        end
        branch:append_text(string.format(", waited %d us", waited * unit))
        lengths[number] = length
    end
    return lengths, live, bytes
end

function bundle.dissector(buffer, pinfo, tree)
    local size = buffer:len()
    if size < HEADER then
        return 0
    end
    local branch = tree:add(bundle, buffer())
    local count = buffer(0, 2):uint()
    branch:add(field.count, buffer(0, 2))
    branch:add(field.average, buffer(2, 2))
    branch:add(field.begins_within, buffer(4, 2))
    branch:add(field.ends_within, buffer(4, 2))
    branch:add(field.version, buffer(4, 2))
    branch:add(field.unit, buffer(4, 2))
    branch:add(field.sequence, buffer(4, 2))
    local begins, ends = buffer(4, 2):bitfield(0, 1) == 1, buffer(4, 2):bitfield(1, 1) == 1
    local version, sequence = buffer(4, 2):bitfield(2, 1), buffer(4, 2):bitfield(4, 12)
    if version ~= VERSION then
        branch:add_proto_expert_info(found.version)
        return HEADER
    end
    local unit = buffer(4, 2):bitfield(3, 1) == 1 and 10 or 1
    local body = HEADER + ENTRY * count
    if count == 0 or body > size then
        branch:add_proto_expert_info(found.length)
        return size
    end
    local lengths, live, bytes = entries(buffer, count, unit, branch)
    branch:add(field.live, live):set_generated()
    branch:add(field.live_bytes, bytes):set_generated()
    local line = string.format("Bundle %d: %d of %d packets, %d bytes", sequence, live, count, bytes)
    branch:append_text(string.format(", %d: %d of %d packets", sequence, live, count))
    if live < count then
        branch:add_proto_expert_info(found.inner_dropped)
    end
    local at = body
    for number = 0, count - 1 do
        local length = lengths[number]
        if length > 0 then
            if at + length > size then
                branch:add_proto_expert_info(found.length)
                break
            end
            local piece = begins and number == 0 or ends and number == count - 1
            inner(number, buffer(at, length), piece, pinfo, branch)
            at = at + length
        end
    end
    if at < size then
        branch:add(field.padding, buffer(at))
    end
    -- What is inside wrote into these too: the line of the frame is the bundle's.
    pinfo.cols.protocol = "JUMBOLAB"
    pinfo.cols.info = line
    return size
end

DissectorTable.get("ip.proto"):add(PROTOCOL, bundle)
DissectorTable.get("udp.port"):add(PORT, bundle)
-- Behind a label nothing says what follows: the user does.
DissectorTable.get("mpls.label"):add_for_decode_as(bundle)
